# SPDX-License-Identifier: MIT
# Writes the table of decimal_powers.h: the first 128 bits of each power of ten, and one unit more. digit[0 .. count) is a
# number in base 2^16, the lowest digit first. The powers below 1 begin with a power of two that is divided by ten again
# and again, without the remainder: to round down twice is to round down once.
#
#     awk -f decimal_powers.awk decimal_powers.h

function write(n,    i, low, row, scale, part) {
    for (scale = 1; digit[count - 1] * scale < 32768; scale *= 2)
        continue
    for (i = 1; i <= 8; i++) {
        part = i <= count ? digit[count - i] * scale % 65536 : 0
        row[i] = part + (i < count ? int(digit[count - i - 1] * scale / 65536) : 0)
    }
    for (low = 8; ++row[low] == 65536; low--)
        row[low] = 0
    for (i = 1; i <= 8; i++)
        part = sprintf("%s%s%04x", i == 1 ? "{0x" : part, i == 5 ? ", 0x" : "", row[i])
    line[n] = "    " part "},"
}

function times_ten(    i, carry) {
    for (i = 0; i < count; i++) {
        carry += digit[i] * 10
        digit[i] = carry % 65536
        carry = int(carry / 65536)
    }
    if (carry > 0)
        digit[count++] = carry
}

function over_ten(    i, rest) {
    for (i = count - 1; i >= 0; i--) {
        rest = rest * 65536 + digit[i]
        digit[i] = int(rest / 10)
        rest %= 10
    }
    while (digit[count - 1] == 0)
        count--
}

/DECIMAL_LOWEST_POWER = / { lowest = $3 + 0 }
/DECIMAL_HIGHEST_POWER = / { highest = $3 + 0 }

END {
    digit[0] = count = 1
    for (n = 0; n <= highest; n++) {
        write(n)
        times_ten()
    }
    count = 80 # over 10^292 more than 128 bits are left
    for (i = 0; i < count; i++)
        digit[i] = i == count - 1
    for (n = -1; n >= lowest; n--) {
        over_ten()
        write(n)
    }
    print "#include \"base/decimal_powers.h\"\n"
    print "const struct decimal_power DECIMAL_POWERS[DECIMAL_HIGHEST_POWER - DECIMAL_LOWEST_POWER + 1] = {"
    for (n = lowest; n <= highest; n++)
        print line[n]
    print "};"
}
