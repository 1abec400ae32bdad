set(LAYER_SOURCES ball.c rational.c)
