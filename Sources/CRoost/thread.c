#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "croost.h"

#include <pthread.h>
#include <stdlib.h>

struct start {
    void (*body)(void *);
    void *context;
    char name[16];
};

static void *run(void *argument) {
    struct start start = *(struct start *)argument;
    free(argument);
#if defined(__APPLE__)
    pthread_setname_np(start.name);
#elif defined(__linux__)
    pthread_setname_np(pthread_self(), start.name);
#endif
    start.body(start.context);
    return NULL;
}

int roost_start_thread(
    const char *name, size_t stack_size, void (*body)(void *), void *context) {
    struct start *start = calloc(1, sizeof *start);
    if (!start) return 0;
    start->body = body;
    start->context = context;
    strncpy(start->name, name, sizeof start->name - 1);
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) {
        free(start);
        return 0;
    }
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (stack_size > 0) pthread_attr_setstacksize(&attributes, stack_size);
    pthread_t thread;
    int is_started = pthread_create(&thread, &attributes, run, start) == 0;
    pthread_attr_destroy(&attributes);
    if (!is_started) free(start);
    return is_started;
}
