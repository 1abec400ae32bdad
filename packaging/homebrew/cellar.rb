# SPDX-License-Identifier: GPL-3.0-or-later
# A formula for Homebrew on Linux. NOT RUN here. Cellar needs Linux: it reads foreign files behind seccomp filters, and
# protects its keys with memory that macOS does not have. `brew install --formula packaging/homebrew/cellar.rb`
# builds a checkout that CELLAR_SOURCE names.
class Cellar < Formula
  desc "Frequency tables about people, published without giving the people away"
  license "GPL-3.0-or-later"
  version "0.1.0"
  url "file://#{ENV.fetch("CELLAR_SOURCE", ".")}", using: :git

  depends_on "cmake" => :build
  depends_on "ninja" => :build
  depends_on "pkg-config" => :build
  depends_on "brotli"
  depends_on "expat"
  depends_on "flint"
  depends_on "glpk"
  depends_on "gmp"
  depends_on "jansson"
  depends_on "libmicrohttpd"
  depends_on "libpq"
  depends_on "librsvg"
  depends_on "libsodium"
  depends_on "libyaml"
  depends_on :linux
  depends_on "lz4"
  depends_on "openssl@3"
  depends_on "r" # libRmath
  depends_on "readstat"
  depends_on "snappy"
  depends_on "sqlite"
  depends_on "zstd"

  def install
    system "cmake", "-S", ".", "-B", "build/brew", "-G", "Ninja", "-DCELLAR_TESTS=OFF", *std_cmake_args
    system "cmake", "--build", "build/brew"
    system "cmake", "--install", "build/brew"
  end

  test do
    system bin/"cellar", "--version"
  end
end
