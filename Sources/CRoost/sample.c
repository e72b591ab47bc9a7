#include "croost.h"

// Of the thread: counting in memory that threads share would have their cores wait for each other.
static __thread uint64_t state;

int roost_takes_sample(void) {
    // Random rather than every so many: a program that reads and writes in turn would otherwise have one
    // of the two measured and never the other. Knuth's linear congruential generator; its high bits.
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 57 == 0;
}
