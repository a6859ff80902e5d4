import Foundation

/// Student's t distribution.
struct StudentT {
    let degreesOfFreedom: Double

    /// Returns the probability of a value at least as far from 0 as `t`. Its relative error is small for values as improbable
    /// as 1e-300, because nothing is subtracted from 1.
    func twoSided(_ t: Double) -> Double {
        guard !t.isNaN else { return 1 }
        return RegularizedBeta(degreesOfFreedom / 2, 0.5).value(at: degreesOfFreedom / (degreesOfFreedom + t * t))
    }

    /// Returns the positive value whose ``twoSided(_:)`` is `probability`, above 0 and below 1.
    ///
    /// The logarithm of the probability is concave in the logarithm of the value, so Newton's method converges from anywhere.
    func critical(_ probability: Double) -> Double {
        var logarithm = 0.0
        for _ in 0..<100 {
            let t = exp(logarithm)
            let tail = twoSided(t)
            // A step too far would end where the probability is 0.
            let step = min(log(tail / probability) * tail / (2 * t * density(t)), 1)
            logarithm += step
            if abs(step) < 1e-13 { break }
        }
        return exp(logarithm)
    }

    private func density(_ t: Double) -> Double {
        let half = degreesOfFreedom / 2
        let logarithm = lgamma(half + 0.5).0 - lgamma(half).0 - (half + 0.5) * log1p(t * t / degreesOfFreedom)
        return exp(logarithm) / (degreesOfFreedom * .pi).squareRoot()
    }
}
