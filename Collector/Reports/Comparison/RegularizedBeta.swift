import Foundation

/// The regularized incomplete beta function I(a, b), as a continued fraction (NIST Digital Library of Mathematical Functions,
/// 8.17.22), evaluated by Lentz's method.
struct RegularizedBeta {
    private let a: Double
    private let b: Double

    /// - Parameters:
    ///   - a, b: positive. The logarithm of the gamma function has a relative error of 1e-16, so the result's is about 1e-16
    ///     times the larger of both; here both are below 100.
    init(_ a: Double, _ b: Double) {
        self.a = a
        self.b = b
    }

    /// Returns the function's value at `x`, 0...1.
    func value(at x: Double) -> Double {
        guard x > 0 else { return 0 }
        guard x < 1 else { return 1 }
        // On the other side of the mean the fraction converges slowly.
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
