import Foundation

/// Bad requests among all of a part: failed ones, or ones that took at least so long.
struct Share {
    var bad: Double
    var all: Double

    var value: Double { bad / max(all, 1) }
}

/// The strength of the evidence for a change of counts.
enum EvidenceScore {
    /// Returns Kulldorff's log likelihood ratio of two shares ("A spatial scan statistic", 1997), in nats: how much likelier
    /// the counts are if the shares differ than if they are the same. It does not say which one is higher.
    static func ofDifference(_ part: Share, _ reference: Share) -> Double {
        let common = (part.bad + reference.bad) / max(part.all + reference.all, 1)
        return gain(part, over: common) + gain(reference, over: common)
    }

    /// Returns how much likelier a part is with its own share than with another, in nats.
    static func gain(_ part: Share, over share: Double) -> Double {
        let own = part.value
        return term(part.bad, own / max(share, 1e-12)) + term(part.all - part.bad, (1 - own) / max(1 - share, 1e-12))
    }

    private static func term(_ count: Double, _ ratio: Double) -> Double {
        count > 0 && ratio > 0 ? count * log(ratio) : 0
    }

    /// Returns the variance of a mean over some minutes, as a part of the variance of one minute, if minutes correlate as
    /// ``FindingConstants/autocorrelation`` says.
    static func persistence(_ minutes: Double) -> Double {
        let (rho, t) = (FindingConstants.autocorrelation, max(minutes, 1))
        let tail = t * (1 - rho)
        return min(1, (1 + rho) / tail - 2 * rho * (1 - pow(rho, t)) / (tail * tail))
    }

    /// Returns the factor by which the variance of a difference exceeds that of chance.
    ///
    /// - Parameters:
    ///   - spread: the variance of a minute's share beyond chance.
    ///   - persistence: that of the part and of the reference together.
    static func dispersion(spread: Double, persistence: Double, _ part: Share, _ reference: Share) -> Double {
        let all = max(part.all + reference.all, 1)
        let common = (part.bad + reference.bad) / all
        return 1 + spread * persistence * part.all * reference.all / all / max(common * (1 - common), 1e-9)
    }
}

/// A change that a scan has found in a row.
struct FoundChange {
    /// The evidence in nats, after dispersion.
    var evidence: Double
    /// Minutes since the change.
    var lag: Int
    /// The coarse bucket from which a request counts as slow.
    var bucket: Int
}
