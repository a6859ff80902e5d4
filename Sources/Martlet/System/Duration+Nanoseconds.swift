extension Duration {
    /// The duration in nanoseconds: 0 if it is negative, and 285 years at most, so that a deadline made of it does not
    /// overflow.
    var nanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        return UInt64(clamping: min(seconds, 9_000_000_000)) &* 1_000_000_000
            &+ UInt64(clamping: attoseconds / 1_000_000_000)
    }

    var seconds: Double { Double(nanoseconds) / 1e9 }
}
