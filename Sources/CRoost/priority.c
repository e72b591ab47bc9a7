#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "croost.h"

#if defined(__APPLE__)
#include <pthread.h>
#include <pthread/qos.h>

void roost_lower_thread_priority(void) { pthread_set_qos_class_self_np(QOS_CLASS_UTILITY, 0); }

void roost_let_others_finish(void) {}

#elif defined(__linux__)
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

// On Linux a nice value belongs to a thread, not to the process. A third of the usual weight.
void roost_lower_thread_priority(void) {
    (void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 5);
}

// A thread of this policy has the same share, and preempts nobody when it is woken. On Linux zero is the calling thread.
void roost_let_others_finish(void) {
    struct sched_param none = {.sched_priority = 0};
    (void)sched_setscheduler(0, SCHED_BATCH, &none);
}

#else
void roost_lower_thread_priority(void) {}
void roost_let_others_finish(void) {}
#endif
