#!/bin/sh
# SPDX-License-Identifier: MIT
# NumPy and the safetensors package read attn's files, and attn reads theirs and PyTorch's. PYTHON names an interpreter
# that has them (python3); without them these checks are skipped, and only the goldens of other tests cover them.
. tests/counts.sh
python=${PYTHON:-python3}
attn=$ATTN_BIN/attn
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

has() { command -v "$python" >/dev/null && "$python" -c "import $1" 2>"$scratch/import"; }
py() { "$python" -c "$1" "$scratch"; }
begin='import sys, json, numpy; from os.path import join; folder = sys.argv[1]
def values(rows): return numpy.array([[-numpy.inf if x is None else x for x in row] for row in rows])
'

if has numpy; then
    for dtype in f32 f64; do
        for stage in inputs query weights masked context; do
            "$attn" causal data/inputs.json --dtype $dtype --stages $stage -o "$scratch/a.npy"
            "$attn" causal data/inputs.json --dtype $dtype --stages $stage -o "$scratch/a.json"
            check "numpy.load reads $stage in $dtype" py "$begin
array = numpy.load(join(folder, 'a.npy'))
expected = values(json.load(open(join(folder, 'a.json')))['$stage']).astype('$dtype'.replace('f32', 'f4').replace('f64', 'f8'))
assert array.dtype == expected.dtype and array.shape == expected.shape and (array == expected).all(), array
numpy.save(join(folder, 'b.npy'), array)"
            check "numpy.save writes the same bytes" cmp "$scratch/a.npy" "$scratch/b.npy"
        done
    done
    for columns in 1 10 100 1000 10000 100000; do
        "$attn" init self --d-in 2 -d $columns --init randn >"$scratch/w.json"
        printf '{"inputs": [[1, 2], [3, 4]]}' | "$attn" self -w "$scratch/w.json" --stages value -o "$scratch/a.npy"
        check "and with $columns columns" py "$begin
numpy.save(join(folder, 'b.npy'), numpy.load(join(folder, 'a.npy')))"
        check "byte for byte" cmp "$scratch/a.npy" "$scratch/b.npy"
    done
    for descr in '<f4' '>f4' '<f8' '>f8' '<f2' '>f2' '<i8' '>i8' '|b1'; do
        for order in C F; do
            for shape in '(7, 5)' '(2, 7, 5)'; do
                py "$begin
array = numpy.random.default_rng(5).integers(-9, 9, $shape).astype('$descr')
numpy.save(join(folder, 'a.npy'), numpy.array(array, order='$order'))
json.dump({'inputs': array.astype('f8').tolist()}, open(join(folder, 'a.json'), 'w'))"
                "$attn" self "$scratch/a.npy" --dtype f32 -f json >"$scratch/npy"
                "$attn" self "$scratch/a.json" -f json >"$scratch/json"
                check "attn reads $descr in order $order, $shape" cmp "$scratch/npy" "$scratch/json"
            done
        done
    done
    # A tensor of each stage is a view of a storage: transposed, with a step, from the middle, one row for all.
    views="$begin
sys.path.insert(0, 'tests/golden')
import torch_save
random = numpy.random.default_rng(int(sys.argv[2]))
arrays, storages = {}, []
for name in 'query key value scores scaled masked weights context output'.split():
    dtype = random.choice(['f4', 'f8', 'f2', 'i8', '?'])
    storage = random.integers(0, 9, 4 * 6 * 8 * 9).astype(dtype)
    if storages and random.integers(3) == 0:
        storage = storages[-1]
    storages.append(storage)
    view = storage[: 4 * 6 * 8 * int(random.integers(1, 9))].reshape(4, 6, -1)[random.integers(4) :, :: random.integers(1, 3)]
    view = view.transpose(random.permutation(3))
    if random.integers(4) == 0:
        view = numpy.broadcast_to(view[:1], view.shape)
    arrays[name] = storage, view
numpy.savez(join(folder, 'a.npz'), **{name: view for name, (storage, view) in arrays.items()})
"
    for seed in 1 2 3 4 5 6 7 8; do
        "$python" -c "$views
stores = {id(storage): torch_save.Storage(storage) for storage, _ in arrays.values()}
torch_save.save({name: torch_save.Tensor(stores[id(storage)], view.shape, [s // view.itemsize for s in view.strides],
                (view.__array_interface__['data'][0] - storage.__array_interface__['data'][0]) // view.itemsize)
                for name, (storage, view) in arrays.items()}, join(folder, 'a.pt'))" "$scratch" $seed
        check "the views of a .pt are those of a .npz, $seed" "$attn" diff "$scratch/a.npz" "$scratch/a.pt" --atol 0 --rtol 0 -o "$scratch/report"
    done
else
    skip "NumPy" "$python has no numpy"
fi

if has numpy && has torch; then
    for seed in 1 2 3 4; do
        "$python" -c "$views
import torch
torch.save({name: torch.from_numpy(storage).as_strided(view.shape, [s // view.itemsize for s in view.strides],
            (view.__array_interface__['data'][0] - storage.__array_interface__['data'][0]) // view.itemsize)
            for name, (storage, view) in arrays.items()}, join(folder, 'a.pt'))" "$scratch" $seed
        check "the same as PyTorch itself writes them, $seed" "$attn" diff "$scratch/a.npz" "$scratch/a.pt" --atol 0 --rtol 0 -o "$scratch/report"
    done
else
    skip "PyTorch" "$python has no torch"
fi

if has numpy && has safetensors.numpy; then
    for options in 'self' 'causal --dropout 0.5' 'causal --dtype f64' 'multihead -H 2 --qkv-bias' \
        'multihead -H 2 --stacked -q 2'; do
        "$attn" $options data/inputs.json -o "$scratch/a.safetensors"
        "$attn" $options data/inputs.json -o "$scratch/a.json"
        check "safetensors reads $options" py "$begin
from safetensors import safe_open
expected = json.load(open(join(folder, 'a.json')))
file = safe_open(join(folder, 'a.safetensors'), 'numpy')
metadata = file.metadata()
assert json.loads(metadata['settings']) == expected['settings'] and json.loads(metadata['tokens']) == expected['tokens']
assert metadata['mechanism'] == expected['mechanism'] and metadata['attn'] == expected['attn']
names = [name for name in expected if name not in ('attn', 'mechanism', 'settings', 'tokens')]
assert sorted(names) == sorted(file.keys()), file.keys()
for name in names:
    tensor = file.get_tensor(name)
    numbers = numpy.array(expected[name], dtype=object)
    numbers[numpy.equal(numbers, None)] = -numpy.inf
    assert tensor.shape == numbers.shape and (tensor == numbers.astype(tensor.dtype)).all(), name"
    done
    py "$begin
from safetensors.numpy import save_file
random = numpy.random.default_rng(6)
tensors = {name: random.standard_normal(shape).astype('f4') for name, shape in
           (('inputs', (5, 4)), ('W_query.weight', (2, 4)), ('W_key.weight', (2, 4)), ('W_value.weight', (2, 4)))}
save_file(tensors, join(folder, 'a.safetensors'), {'tokens': json.dumps(list('abcde'))})
rows = {name: tensor.astype('f8').tolist() for name, tensor in tensors.items()}
json.dump(rows | {'tokens': list('abcde')}, open(join(folder, 'a.json'), 'w'))"
    "$attn" self "$scratch/a.safetensors" -f json >"$scratch/binary"
    "$attn" self "$scratch/a.json" -f json >"$scratch/json"
    check "attn reads what safetensors writes" cmp "$scratch/binary" "$scratch/json"
else
    skip "safetensors" "$python has no safetensors"
fi
finish
