import MartletTelemetry

/// The places of paths that took many names, such as those of users behind `/users/`. After
/// ``MartletLimits/namesOfAPlace`` names, every segment of a place is a value.
///
/// A place is the host with the path before it. Places and names are kept as hashes, so a place takes some 300 bytes at
/// most. A collision counts a name too few, or finds a place too early, once in millions.
struct VaryingPlaces: Sendable {
    /// The judgement of a segment at a place.
    enum Judgement {
        case name
        case value
        /// A value, and the names of the place were endpoints until now.
        case firstValue
    }

    /// The hashes of each place's names, behind a zero; empty if its segments are values.
    private var names: [Int: [UInt32]] = [:]
    /// The places in use. It has the keys of ``names``.
    private var places: NameBudget<Int>

    /// - Parameter limit: the number of places that are watched.
    init(limit: Int) {
        places = NameBudget(limit: limit)
    }

    /// Judges a segment that looks like a name.
    ///
    /// - Parameters:
    ///   - prefix: the name of the path before the segment.
    ///   - now: the approximate time of the request.
    mutating func judge(
        _ segment: ArraySlice<UInt8>, after prefix: [UInt8], of target: RequestTarget, at now: UnixNanoseconds
    ) -> Judgement {
        let place = Self.hash(prefix, target)
        guard places.admit(place, at: now) else { return .name }
        return Self.judge(UInt32(truncatingIfNeeded: Self.hash(segment)), &names[place, default: [0]])
    }

    private static func judge(_ name: UInt32, _ names: inout [UInt32]) -> Judgement {
        if names.isEmpty { return .value }
        if names.contains(name) { return .name }
        if names.count <= MartletLimits.namesOfAPlace {
            names.append(name)
            return .name
        }
        names = []
        return .firstValue
    }

    /// Forgets places not seen for ``MartletLimits/unusedEndpoint``, if their limit is reached.
    mutating func forgetUnused(at now: UnixNanoseconds) {
        guard places.forgetUnused(at: now) else { return }
        names = names.filter { places.contains($0.key) }
    }

    private static func hash(_ prefix: [UInt8], _ target: RequestTarget) -> Int {
        var hasher = Hasher()
        hasher.combine(target.host)
        hasher.combine(target.port)
        hasher.combine(prefix)
        return hasher.finalize()
    }

    private static func hash(_ segment: ArraySlice<UInt8>) -> Int {
        var hasher = Hasher()
        hasher.combine(segment)
        return hasher.finalize()
    }
}
