import Fixtures
import Testing

@testable import MartletFindings

/// The served endpoint that makes requests, by counts.
@Suite struct LeastSquaresTests {
    private let orders: [Double] = [10, 2, 9, 3, 12, 1, 8, 4]
    private let users: [Double] = [3, 9, 4, 10, 2, 11, 5, 8]

    @Test func endpointThatMakesTheRequestsIsFound() {
        let made = zip(orders, users).map { 5 * $0 + 1 * $1 }
        let ratios = LeastSquares.nonNegative([orders, users], made)
        #expect(abs(ratios[0] - 5) < 0.01 && abs(ratios[1] - 1) < 0.01)
        #expect(LeastSquares.isNeeded(0, [orders, users], made, ratios))
    }

    @Test func ratiosAreNeverNegative() {
        let ratios = LeastSquares.nonNegative([orders, users], orders.map { 12 - $0 })
        #expect(ratios.allSatisfy { $0 >= 0 })
    }

    /// Each endpoint gets the same share of the visits all the time, but for chance.
    @Test(arguments: 1...50)
    func endpointOfABusyServiceIsFound(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let columns = [60.0, 90, 30, 120].map { mean in
            (0..<8).map { _ in mean + Double.random(in: -1...1, using: &random) * 2 * mean.squareRoot() }
        }
        let ratios = LeastSquares.nonNegative(columns, columns[3].map { 5 * $0 })
        #expect(zip(ratios, [0.0, 0, 0, 5]).allSatisfy { abs($0 - $1) < 0.01 })
    }

    @Test func endpointsThatAreServedTogetherAreNotDistinguished() {
        let made = orders.map { 5 * $0 }
        let columns = [orders, orders.map { 2 * $0 }]
        #expect(!LeastSquares.isNeeded(0, columns, made, LeastSquares.nonNegative(columns, made)))
    }

    @Test func oneStepDistinguishesNothing() {
        let columns = [[10.0], [4.0]]
        #expect(!LeastSquares.isNeeded(0, columns, [50], LeastSquares.nonNegative(columns, [50])))
    }
}
