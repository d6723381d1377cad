"""Chunks of work on several threads: `chunks` hands them out, `openmp` lends a booster's threads, `scratch` lends memory."""
