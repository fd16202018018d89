#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs the suite with other compilers and machines, and compares their numbers with this machine's.
#
#   sh tests/ports.sh PORT...
#
#   gcc, clang  this machine's compilers
#   aarch64     cross-compiled, emulated: NEON
#   s390x       the same: the other byte order
#   i386        the same, emulated only if the processor cannot: 32 bits
#
# PORT_TESTS names the tests, as tests/run.sh takes them (all); PORT_CFLAGS are the flags of another machine's compiler.
#
# The port of another machine is in build/ports/PORT: Debian's cJSON for that machine, which apt downloads from this
# machine's sources into a separate state (without adding an architecture), the programs, and in run/ a script for each
# that starts the emulator: for the tests a normal build folder. A port that cannot run here is an error.
. tests/counts.sh
tests=${PORT_TESTS-programs examples scripts whole}
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES BUILD
root=$PWD

need() { # COMMAND PACKAGE
    command -v "$1" >/dev/null || { echo "tests/ports.sh: $1 is missing: install $2" >&2; exit 1; }
}

# The names of a port for the compiler, Debian, the emulator and its loader.
describe() {
    debian=$1 triple=$1-linux-gnu order=little
    case $1 in
    aarch64) debian=arm64 loader=ld-linux-aarch64.so.1 ;;
    s390x) loader=ld64.so.1 order=big ;;
    i386) triple=i686-linux-gnu loader=ld-linux.so.2 ;;
    *) echo "tests/ports.sh: no port $1, expected gcc, clang, aarch64, s390x or i386" >&2; exit 1 ;;
    esac
    need "$triple-gcc" "gcc-$triple"
}

# cJSON in $sysroot.
fetch_cjson() {
    [ -e "$sysroot/complete" ] && return
    need apt-get apt
    state=$folder/apt
    rm -rf "$state" "$sysroot"
    mkdir -p "$state/lists/partial" "$state/cache/archives/partial" "$sysroot"
    : >"$state/status"
    apt_here() {
        apt-get -q -o APT::Architecture="$debian" -o APT::Architectures="$debian" -o APT::Sandbox::User="$(id -un)" \
            -o Dir::State="$state" -o Dir::State::Lists="$state/lists" -o Dir::State::status="$state/status" \
            -o Dir::Cache="$state/cache" -o Acquire::Languages=none "$@" >>"$folder/apt.log" 2>&1
    }
    : >"$folder/apt.log"
    apt_here update
    (cd "$sysroot" && apt_here download libcjson-dev libcjson1) || { cat "$folder/apt.log"; return 1; }
    for package in "$sysroot"/*.deb; do
        dpkg-deb -x "$package" "$sysroot" || return 1
    done
    rm -rf "$state"
    touch "$sysroot/complete"
}

# The programs of the port, in $folder; where PORT_TESTS names nothing but test programs, no others.
compile() {
    targets=$folder/attn
    for name in $tests; do
        case $name in test_*) targets="$targets $folder/$name" ;; *) targets=tests; break ;; esac
    done
    libraries=$(ls -d "$sysroot"/usr/lib/*-linux-gnu)
    PKG_CONFIG_LIBDIR=$libraries/pkgconfig PKG_CONFIG_SYSROOT_DIR=$sysroot \
        make -s -j "$(nproc)" BUILD="$folder" CC="$triple-gcc" CPPFLAGS=-Werror ${PORT_CFLAGS:+CFLAGS="$PORT_CFLAGS"} \
        LDFLAGS="-Wl,--dynamic-linker=/usr/$triple/lib/$loader -Wl,-rpath,/usr/$triple/lib:$libraries" $targets \
        >"$folder/make.log" 2>&1 || { cat "$folder/make.log"; return 1; }
}

# The command that starts the port's programs: an emulator; none for i386 if the processor can. For other machines a
# running program proves nothing: the kernel may know an emulator (binfmt_misc).
find_emulator() {
    emulator=''
    [ "$1" = i386 ] && "$folder/attn" --version >/dev/null 2>&1 && return
    need "qemu-$1" qemu-user
    emulator="$(command -v "qemu-$1") -0 \"\$0\""
}

# The C library reads C.UTF-8 from this machine's files, which have its byte order.
make_locale() {
    locale=''
    [ $order = little ] && return
    need localedef locales
    locale=$folder/locale
    mkdir -p "$locale"
    [ -d "$locale/C.utf8" ] || localedef --no-archive --$order-endian -i C -f UTF-8 "$locale/C.utf8"
}

# $folder/run: the build folder for the tests.
make_scripts() {
    rm -rf "$folder/run"
    mkdir "$folder/run"
    for program in "$folder"/attn "$folder"/test_*; do
        case $program in *.[od]) continue ;; esac
        script=$folder/run/${program##*/}
        { echo '#!/bin/sh' && echo "${locale:+export LOCPATH=$locale; }exec $emulator $program \"\$@\""; } >"$script"
        chmod +x "$script"
    done
    ln -s "$root/build/run_examples" "$folder/run/run_examples"
}

# Runs a command on this machine and on the port.
both() { # SUFFIX ARGUMENTS...
    suffix=$1
    shift
    build/attn "$@" -o "$scratch/here.$suffix" && "$folder/run/attn" "$@" -o "$scratch/there.$suffix"
}
same() { both "$@" && cmp "$scratch/here.$1" "$scratch/there.$1"; }
close() { both "$@" && build/attn diff "$scratch/here.$1" "$scratch/there.$1" --atol 1e-6 --rtol 1e-5 -o "$scratch/difference"; }

# Parameters must agree bit for bit, the book's outputs as text, every stage within the tolerance of the golden cases;
# each machine reads the other's files.
compare() {
    for seed in 123 789 18446744073709551615; do
        for mechanism in self 'multihead -H 2' 'multihead -H 3 --stacked'; do
            for kind in linear rand 'linear --qkv-bias'; do
                for suffix in json safetensors; do
                    check "the parameters of $mechanism, $kind, seed $seed, to $suffix" \
                        same $suffix init $mechanism --d-in 40 -d 24 --seed $seed --init $kind
                done
            done
        done
        check "torch.randn, seed $seed" close safetensors self data/inputs.json -d 24 --seed $seed --init randn
    done
    for command in 'self --init rand' self causal 'causal --dropout 0.5' 'multihead -H 2' 'multihead -H 2 --stacked' \
        'causal --rng torch-mkl --dropout 0.5'; do
        for suffix in txt csv; do
            check "$command, to $suffix" same $suffix $command data/inputs.json
        done
        for dtype in f64 f16 bf16 f32; do
            check "the stages of $command in $dtype" close safetensors $command data/inputs.json --dtype $dtype
        done
        for machine in here there; do
            cp "$scratch/$machine.safetensors" "$scratch/made.safetensors"
            check "both read what $command made $machine" same txt "${command%% *}" "$scratch/made.safetensors"
        done
    done
    for stage in inputs weights; do
        check "$stage, to .npy" close npy causal data/inputs.json --stages $stage
    done
    check "the fused path" close safetensors causal data/inputs.json -d 64 --kernel fused --stages context
}

port() {
    describe "$1"
    folder=$root/build/ports/$1 sysroot=$root/build/ports/$1/sysroot
    mkdir -p "$folder"
    fetch_cjson && compile && find_emulator "$1" && make_locale && make_scripts || exit 1
    echo "$1, $([ -n "$emulator" ] && echo "emulated by $("qemu-$1" --version | head -n 1)" || echo not emulated): $triple"
    if [ -n "$emulator" ]; then
        ATTN_SLOW=1 FAULTS_STRIDE=50 ATTN_PORT=$1 sh tests/run.sh "$folder/run" $tests
    else
        ATTN_PORT=$1 sh tests/run.sh "$folder/run" $tests
    fi || exit 1
    passed=0 failed=0 skipped=0
    compare
    echo "$1 and this machine: $passed passed, $failed failed"
    [ $failed -eq 0 ] || exit 1
}

[ $# -gt 0 ] || { echo "usage: sh tests/ports.sh PORT..." >&2; exit 2; }
make -j "$(nproc)" tests >/dev/null || exit 1
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
for name in "$@"; do
    case $name in
    gcc | clang)
        need $name $name
        echo "$name"
        make -j "$(nproc)" BUILD="build/$name" CC=$name CPPFLAGS=-Werror tests >/dev/null &&
            sh tests/run.sh "build/$name" $tests || exit 1
        ;;
    *) port "$name" ;;
    esac
done
