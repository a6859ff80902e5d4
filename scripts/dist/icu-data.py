#!/usr/bin/env python3
"""Makes an object file with the part of Foundation's Unicode data that the collector needs.

    icu-data.py SWIFT-STATIC-LIBRARIES OBJECT

Foundation's static library has 34 MB of names of languages, regions, units and character sets. The collector prints English and
UTF-8 only, so the data of English and the tables that belong to no language are enough: 5 MB. ICU falls back to them for every
other language.
"""
import pathlib
import re
import struct
import subprocess
import sys

# A resource of a language is named by its code. The list of all of them looks like one.
LANGUAGE = re.compile(r"(?!res_index$)[a-z]{2,3}(_[A-Za-z0-9]+)*")
ENGLISH = {"en", "en_001", "en_US", "en_US_POSIX"}
# Converters of character sets, dictionaries of Thai and other scripts, transliteration, numbers in words.
UNUSED = re.compile(r".*\.(cnv|dict)|(translit|rbnf)/.*")


def is_needed(name):
    path, _, kind = name.partition("/")[2].rpartition(".")
    if UNUSED.fullmatch(f"{path}.{kind}"):
        return False
    base = path.rpartition("/")[2]
    return kind != "res" or base in ENGLISH or not LANGUAGE.fullmatch(base)


def entries(data):
    """The entries of a package of ICU's data: a header, a table of offsets to names and contents, and both."""
    (start,) = struct.unpack_from("<H", data)
    (count,) = struct.unpack_from("<I", data, start)
    table = [struct.unpack_from("<II", data, start + 4 + 8 * index) for index in range(count)]
    ends = [offset for _, offset in table[1:]] + [len(data) - start]
    for (name, offset), end in zip(table, ends):
        name = data[start + name : data.index(b"\0", start + name)].decode()
        yield name, data[start + offset : start + end]


def package(header, items):
    names, contents, table = b"", b"", []
    first_name = 4 + 8 * len(items)
    first_content = -(first_name + sum(len(name) + 1 for name, _ in items)) % 16
    first_content += first_name + sum(len(name) + 1 for name, _ in items)
    for name, content in items:
        table.append(struct.pack("<II", first_name + len(names), first_content + len(contents)))
        names += name.encode() + b"\0"
        contents += content + bytes(-len(content) % 16)
    head = struct.pack("<I", len(items)) + b"".join(table) + names
    return header + head.ljust(first_content, b"\0") + contents


def main(libraries, target):
    folder = pathlib.Path(target).parent
    member = folder / "icu_packaged_data.o"
    member.write_bytes(subprocess.check_output(["ar", "p", f"{libraries}/lib_FoundationICU.a", "icu_packaged_data.cpp.o"]))
    # The linker replaces the name without the prefix by this one (--wrap).
    symbol = "__wrap_" + re.search(r" R (icudt\d+_dat)$", subprocess.check_output(["nm", str(member)], text=True), re.MULTILINE)[1]
    whole = folder / "icu.dat"
    subprocess.check_call(["objcopy", "--output-target=binary", "--only-section=.rodata", str(member), str(whole)])
    data = whole.read_bytes()
    header = data[: struct.unpack_from("<H", data)[0]]
    whole.write_bytes(package(header, [(name, content) for name, content in entries(data) if is_needed(name)]))
    source = f'.section .rodata\n.balign 16\n.globl {symbol}\n.type {symbol}, @object\n{symbol}:\n.incbin "icu.dat"\n'
    source += f'.size {symbol}, . - {symbol}\n.section .note.GNU-stack, "", @progbits\n'
    subprocess.run(["clang", "-c", "-x", "assembler", "-", "-o", target], input=source, text=True, check=True, cwd=folder)


main(*sys.argv[1:])
