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

    /// Returns the probability of a value of at least `t`.
    func upperTail(_ t: Double) -> Double { t > 0 ? twoSided(t) / 2 : 1 - twoSided(t) / 2 }

    /// Returns the positive value whose ``twoSided(_:)`` is `probability`, above 0 and below 1.
    ///
    /// The logarithm of the probability is concave in the logarithm of the value, so Newton's method converges from anywhere.
    func critical(_ probability: Double) -> Double {
        var logarithm = 0.0
        for _ in 0..<100 {
            let t = exp(logarithm)
            let tail = twoSided(t)
            // Too large a step would end where the probability is 0.
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

/// The regularized incomplete beta function I(a, b), as a continued fraction (NIST Digital Library of Mathematical Functions,
/// 8.17.22), evaluated by Lentz's method.
struct RegularizedBeta {
    private let a: Double
    private let b: Double

    /// - Parameters:
    ///   - a, b: positive. The logarithm of the gamma function has a relative error of 1e-16, so the result's is about 1e-16
    ///     times the larger of both; here both are below 1,000.
    init(_ a: Double, _ b: Double) {
        self.a = a
        self.b = b
    }

    /// Returns the function's value at `x`, 0...1.
    func value(at x: Double) -> Double {
        guard x > 0 else { return 0 }
        guard x < 1 else { return 1 }
        // The fraction converges slowly on the other side of the mean.
        guard x <= (a + 1) / (a + b + 2) else { return 1 - RegularizedBeta(b, a).value(at: 1 - x) }
        let factor = lgamma(a + b).0 - lgamma(a).0 - lgamma(b).0 + a * log(x) + b * log1p(-x)
        return exp(factor) / (a * fraction(at: x))
    }

    private func fraction(at x: Double) -> Double {
        var (value, upper, lower) = (1.0, 1.0, 0.0)
        for index in 1..<10_000 {
            let term = term(index, at: x)
            lower = 1 / Self.nonZero(1 + term * lower)
            upper = Self.nonZero(1 + term / upper)
            value *= upper * lower
            if abs(upper * lower - 1) < 1e-15 { break }
        }
        return value
    }

    private func term(_ index: Int, at x: Double) -> Double {
        let half = Double(index / 2)
        let double = a + 2 * half
        return index.isMultiple(of: 2)
            ? half * (b - half) * x / ((double - 1) * double)
            : -(a + half) * (a + b + half) * x / (double * (double + 1))
    }

    private static func nonZero(_ value: Double) -> Double { abs(value) < 1e-300 ? 1e-300 : value }
}
