set(LAYER_SOURCES
  encoding.c
  stream.c
)
