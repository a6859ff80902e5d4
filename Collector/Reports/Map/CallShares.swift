/// A service and a host that it called, or as which it served.
struct CallSide: Hashable {
    var service: String
    var host: String
}

/// The served sides whose requests are counted together, and their callers: a side counts all of its callers together, and a caller
/// may reach several sides by one host.
struct CallShares {
    struct Share {
        var sides: Set<CallSide> = []
        var callers: Set<CallSide> = []
    }

    private var shares: [Share] = []
    private var indexOfSide: [CallSide: Int] = [:]

    /// - Parameter served: the sides that each caller reaches.
    init(_ served: [CallSide: Set<CallSide>]) {
        for (caller, sides) in served where !sides.isEmpty { add(caller, sides) }
    }

    /// Returns `nil` for a side that no caller is known to reach.
    func share(of side: CallSide) -> Share? { indexOfSide[side].map { shares[$0] } }

    private mutating func add(_ caller: CallSide, _ sides: Set<CallSide>) {
        let known = Set(sides.compactMap { indexOfSide[$0] })
        var share = Share(sides: sides, callers: [caller])
        for index in known {
            share.sides.formUnion(shares[index].sides)
            share.callers.formUnion(shares[index].callers)
        }
        for side in share.sides { indexOfSide[side] = shares.count }
        shares.append(share)
    }
}
