#include "croost.h"

#if defined(__APPLE__)
#include <pthread.h>
#include <pthread/qos.h>

void roost_lower_thread_priority(void) { pthread_set_qos_class_self_np(QOS_CLASS_UTILITY, 0); }

#elif defined(__linux__)
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

// On Linux a nice value belongs to a thread, not to the process. A third of the usual weight.
void roost_lower_thread_priority(void) {
    (void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 5);
}

#else
void roost_lower_thread_priority(void) {}
#endif
