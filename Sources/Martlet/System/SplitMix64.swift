import Synchronization

/// Steele, Lea and Flood's SplitMix64 ("Fast Splittable Pseudorandom Number Generators", OOPSLA 2014): good enough for
/// ids, some ten instructions, and its state is a counter, which threads can share.
enum SplitMix64 {
    static func next(of state: borrowing Atomic<UInt64>) -> UInt64 {
        var mixed = state.wrappingAdd(0x9e37_79b9_7f4a_7c15, ordering: .relaxed).newValue
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
