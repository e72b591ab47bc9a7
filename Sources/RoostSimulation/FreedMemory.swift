import CRoost

/// Has the process keep the memory that it frees. For programs that do nothing but simulate.
package func keepFreedMemory() { roost_keep_freed_memory() }
