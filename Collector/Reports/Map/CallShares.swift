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

    /// Each share once. Those that became a part of another are empty.
    private(set) var all: [Share] = []
    private var indexOfSide: [CallSide: Int] = [:]

    /// - Parameter served: the sides that each caller reaches.
    init(_ served: [CallSide: Set<CallSide>]) {
        for (caller, sides) in served where !sides.isEmpty { add(caller, sides) }
    }

    /// Returns the index of a side's share; `nil` for a side that no caller is known to reach.
    func index(of side: CallSide) -> Int? { indexOfSide[side] }

    private mutating func add(_ caller: CallSide, _ sides: Set<CallSide>) {
        let known = Set(sides.compactMap { indexOfSide[$0] })
        // The largest one takes in the others, so that thousands of callers of a host are not copied for each.
        let target = known.max { all[$0].sides.count < all[$1].sides.count } ?? all.count
        if target == all.count { all.append(Share()) }
        all[target].callers.insert(caller)
        insert(sides, into: target)
        for index in known where index != target {
            let share = all[index]
            all[index] = Share()
            all[target].callers.formUnion(share.callers)
            insert(share.sides, into: target)
        }
    }

    private mutating func insert(_ sides: Set<CallSide>, into target: Int) {
        for side in sides where indexOfSide[side] != target {
            indexOfSide[side] = target
            all[target].sides.insert(side)
        }
    }
}
