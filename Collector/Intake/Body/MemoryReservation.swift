/// Sets the number of bytes of memory that a body takes from here on; throws if there is not that much memory.
package typealias MemoryReservation = (Int) throws(IntakeRejection) -> Void
