# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the extension against an installed libcellar, which pkg-config finds."""
import glob
import subprocess

from setuptools import Extension, setup


def pkg_config(option: str) -> list[str]:
    found = subprocess.run(["pkg-config", option, "cellar"], capture_output=True, text=True)
    if found.returncode != 0:
        raise SystemExit("libcellar was not found: install Cellar (make install), and set PKG_CONFIG_PATH to the folder "
                         "of cellar.pc where it is not a usual one (PREFIX/lib/pkgconfig).")
    return found.stdout.split()


def link_flags() -> list[str]:
    """With the folder of the library where it is none of the system's, so that Python finds it without ldconfig."""
    folder = pkg_config("--variable=libdir")[0]
    usual = folder.startswith(("/usr/lib", "/lib"))
    return pkg_config("--libs") + ([] if usual else [f"-Wl,-rpath,{folder}"])


setup(
    version=pkg_config("--modversion")[0],
    ext_modules=[Extension(
        "cellar._cellar", sorted(glob.glob("src/*.c")),
        py_limited_api=True, extra_compile_args=pkg_config("--cflags"), extra_link_args=link_flags())],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
