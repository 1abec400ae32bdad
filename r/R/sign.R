# SPDX-License-Identifier: GPL-3.0-or-later
# Folders of releases, signed by who publishes them and verified by who reads them.

sign_release <- function(folder, key, accept = character(), accept_files = character()) {
  if (is.null(key)) refuse("`key` is a key that read_key() made")
  unknown <- setdiff(texts(accept, "accept"), ACCEPTED)
  if (length(unknown)) refuse("`accept` is one of ", paste0("\"", ACCEPTED, "\"", collapse = ", "))
  list2frame(ask(.Call(C_sign, path_of(folder, "folder"), need_key(key),
                       list(accept = texts(accept, "accept"), files = texts(accept_files, "accept_files")))))
}

# What a cube of the folder holds is what its measurements give, too.
verify_release <- function(folder, public_key) {
  folder <- path_of(folder, "folder")
  found <- ask(.Call(C_verify_folder, folder, path_of(public_key, "public_key")))
  for (path in list.files(folder, "\\.cube$", all.files = TRUE, full.names = TRUE, recursive = TRUE)) cube(path, verify = TRUE)
  list2frame(found)
}

write_public_key <- function(key, path, replace = FALSE) {
  if (is.null(key)) refuse("`key` is a key that read_key() made")
  ask(.Call(C_write_public_key, need_key(key), path_of(path), as.logical(flag(replace, "replace"))))
  invisible(path)
}

ACCEPTED <- c("no-protection", "large-epsilon", "unaccounted")
