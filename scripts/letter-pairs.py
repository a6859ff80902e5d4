#!/usr/bin/env python3
"""Prints the table of Sources/Martlet/Endpoints/SegmentShape.swift from a list of English words, one a line.

    scripts/letter-pairs.py /usr/share/dict/words     (Debian's wamerican)

The row is a letter, and the column is the letter that follows it. A cell is the surprise of that pair in half bits, at most 20,
written as a letter from `a` for 0: 'c' means that the second letter follows the first in one of two words.
"""

import collections
import math
import re
import string
import sys

words = [word.strip() for word in open(sys.argv[1], encoding="utf-8")]
pairs = collections.Counter()
for word in filter(re.compile("[a-z]{2,}").fullmatch, words):
    pairs.update(zip(word, word[1:]))

for first in string.ascii_lowercase:
    total = sum(pairs[first, second] for second in string.ascii_lowercase)
    costs = [-2 * math.log2((pairs[first, second] + 0.5) / (total + 13)) for second in string.ascii_lowercase]
    print("".join(chr(ord("a") + min(20, round(cost))) for cost in costs))
