set(LAYER_SOURCES locked.c rng.c symmetric.c thresholds.c)
