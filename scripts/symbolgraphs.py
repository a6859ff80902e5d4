"""The public symbols of the library products, from the results of `swift build`, for docs.py and check-api.py."""

import json
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUTPUT = ROOT / ".build" / "documentation"


def answer(*command):
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


TARGET = json.loads(answer("swift", "-print-target-info"))
TOOLCHAIN = pathlib.Path(TARGET["paths"]["runtimeResourcePath"]).parent.parent / "bin"
MANIFEST = json.loads(answer("swift", "package", "dump-package"))
LIBRARIES = sorted({
    target for product in MANIFEST["products"] if "library" in product["type"] for target in product["targets"]
})


def folder(module):
    return OUTPUT / f"{module}.symbols"


def extract(module):
    """Writes the symbol graphs of a module into its folder, and returns them."""
    shutil.rmtree(folder(module), ignore_errors=True)
    folder(module).mkdir(parents=True)
    build = pathlib.Path(answer("swift", "build", "--show-bin-path").strip())
    # The compiler finds Swift's modules by itself, and C modules by their maps.
    maps = [*build.glob("*.build/module.modulemap"), *(ROOT / "Sources").glob("*/module.modulemap")]
    clang = [part for path in maps for part in ("-Xcc", f"-fmodule-map-file={path}")]
    subprocess.run(
        [
            TOOLCHAIN / "swift-symbolgraph-extract", "-module-name", module, "-target", TARGET["target"]["triple"],
            "-I", build / "Modules", *clang, "-minimum-access-level", "public", "-skip-synthesized-members",
            "-emit-extension-block-symbols", "-output-dir", folder(module),
        ], check=True)
    return [json.loads(path.read_text()) for path in sorted(folder(module).glob("*.symbols.json"))]
