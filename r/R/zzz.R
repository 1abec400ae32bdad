# SPDX-License-Identifier: GPL-3.0-or-later
.onUnload <- function(libpath) library.dynam.unload("cellar", libpath)
