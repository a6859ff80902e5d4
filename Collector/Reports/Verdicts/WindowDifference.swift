import Foundation

/// The requests of a window, and those with a property.
package struct SignalCounts: Sendable, Equatable {
    package var having: Double
    package var all: Double

    package init(_ having: Double, of all: Double) {
        (self.having, self.all) = (having, all)
    }

    package var share: Double { having / max(all, 1) }

    static func + (one: Self, other: Self) -> Self { Self(one.having + other.having, of: one.all + other.all) }
    static func - (one: Self, other: Self) -> Self { Self(one.having - other.having, of: one.all - other.all) }

    /// The share on a scale on which its variance is 1 by the number of requests, whatever the share is (Anscombe: "The
    /// Transformation of Poisson, Binomial and Negative-Binomial Data", Biometrika 35, 1948).
    var angle: Double { 2 * asin(((having + 0.375) / (all + 0.75)).squareRoot()) }

    /// The variance of a request with this share, p(1 - p). It turns a variance of the logit into one of the angle.
    var spread: Double {
        let share = (having + 0.5) / (all + 1)
        return share * (1 - share)
    }
}

/// The difference between a window and what it is compared with.
package struct WindowDifference: Sendable, Equatable {
    /// The difference of the angles; positive if the share is greater after.
    package let difference: Double
    /// The variance of the difference if requests did not depend on each other.
    package let variance: Double
    /// See ``SignalCounts/spread``, of both windows together.
    package let spread: Double

    package init(_ after: SignalCounts, from before: SignalCounts) {
        difference = after.angle - before.angle
        variance = 1 / max(after.all, 0.5) + 1 / max(before.all, 0.5)
        spread = (after + before).spread
    }

    /// Returns the difference in standard errors.
    ///
    /// - Parameter noise: the variance of the difference of logits beyond that of independent requests.
    func score(_ noise: Double) -> Double { difference / (variance + noise * spread).squareRoot() }

    /// Returns the noise with which a difference is a number of standard errors; negative if independent requests differ more.
    ///
    /// - Parameter difference: ``difference``, or a part of it.
    func noise(for difference: Double, in errors: Double) -> Double {
        (difference * difference / (errors * errors) - variance) / spread
    }
}
