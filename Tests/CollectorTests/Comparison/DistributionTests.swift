import Testing

@testable import MartletReports

/// The references were computed with 40 digits (mpmath 1.3) and agree with SciPy 1.17 in all digits that it has.
@Suite struct DistributionTests {
    @Test(
        arguments: [
            (0.5, 0.5, 0.25, 0.33333333333333333), (2, 3, 0.4, 0.52480000000000004),
            (9, 0.5, 0.97, 0.46522615592415268),
            (4.5, 0.5, 0.05, 3.6916857749233385e-7), (0.5, 9, 0.001, 0.10529077132553938),
            (5, 5, 1e-12, 1.2599999999957999e-58), (30, 40, 0.5, 0.88579988732335151),
            (99, 0.5, 0.999, 0.65666548495831205),
            (2, 3, 0, 0), (2, 3, 1, 1),
        ] as [(Double, Double, Double, Double)])
    func theIncompleteBetaFunctionHasItsKnownValues(a: Double, b: Double, x: Double, value: Double) {
        #expect(isNear(RegularizedBeta(a, b).value(at: x), value, within: 1e-12))
    }

    @Test(
        arguments: [
            (0, 5, 1), (1, 1, 0.5), (2.5, 18, 0.022308020232022224), (3.25, 9, 0.0099973690840215669),
            (10, 9, 3.5782374319247358e-6), (30, 9, 2.4837047041582624e-10), (50, 18, 9.0704259941335639e-21),
            (0.001, 9, 0.99922393032597327), (1000, 18, 3.6784151376334433e-44), (1e6, 18, 3.6789812836486485e-98),
            (.infinity, 18, 0), (.nan, 18, 1),
        ] as [(Double, Double, Double)])
    func studentsTHasItsKnownTails(t: Double, degreesOfFreedom: Double, probability: Double) {
        let studentT = StudentT(degreesOfFreedom: degreesOfFreedom)
        #expect(isNear(studentT.twoSided(t), probability, within: 1e-12))
        #expect(studentT.twoSided(-t) == studentT.twoSided(t))
    }

    @Test(
        arguments: [
            (0.05, 5, 2.5705818356363155), (0.01, 9, 3.2498355415921263), (0.01, 18, 2.8784404727386081),
            (0.2, 18, 1.330390943569909), (2.5e-5, 18, 5.6155508088537772), (1e-6, 9, 11.63678202732889),
            (1e-12, 9, 55.543444415533474), (0.5, 1, 1),
        ] as [(Double, Double, Double)])
    func studentsTHasItsKnownCriticalValues(probability: Double, degreesOfFreedom: Double, t: Double) {
        #expect(isNear(StudentT(degreesOfFreedom: degreesOfFreedom).critical(probability), t, within: 1e-10))
    }

    /// The table of ten million requests has no exact reference in most libraries: SciPy's is right to 10 digits.
    @Test(
        arguments: [
            (8, 2, 1, 5, 0.034965034965034965), (0, 12_000, 12, 11_988, 0.00048693967918154998),
            (0, 12_000, 24, 11_976, 1.1784490679746498e-7), (3, 9_997, 9, 9_991, 0.14587522903654204),
            (0, 10_000_000, 9, 9_999_991, 0.0039062429687533398),
            (0, 10_000_000, 41, 9_999_959, 9.0945741317906752e-13),
            (9, 9_999_991, 60, 9_999_940, 2.2443056399132999e-10), (10, 0, 0, 10, 1.0825088224469029e-5),
            (5, 5, 5, 5, 1), (1, 29, 3, 297, 0.31823653796059446), (9, 21, 0, 40_000, 1.9689579993370348e-29),
            (2, 98, 5_000, 9_995_000, 0.001198496078042811), (5_000, 9_995_000, 5_500, 9_994_500, 1.105309171085566e-6),
            (0, 5, 0, 7, 1), (3, 7, 5, 1, 0.11888111888111888), (0, 0, 0, 0, 1), (0, 0, 3, 4, 1),
        ] as [(Double, Double, Double, Double, Double)])
    func fishersTestHasItsKnownProbabilities(a: Double, b: Double, c: Double, d: Double, probability: Double) {
        let tables = [((a, b), (c, d)), ((c, d), (a, b)), ((b, a), (d, c)), ((a, c), (b, d))]
        for (one, other) in tables {
            #expect(isNear(FisherExactTest.twoSided(one, other), probability, within: 1e-11))
        }
    }

    @Test func aTableThatIsAllButImpossibleHasTheProbabilityZero() {
        #expect(FisherExactTest.twoSided((0, 1_000_000), (1_000_000, 0)) < 1e-290)
    }

    /// The example of Benjamini and Hochberg's article, section 4.1, at a rate of 1 % instead of 5 %.
    @Test func theFalseDiscoveryRateTakesTheLastResultBelowItsShare() {
        let pValues = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528,
            0.7590, 1,
        ]
        let rate = FalseDiscoveryRate(pValues.reversed())
        #expect(pValues.filter { $0 <= rate.level } == [0.0001, 0.0004, 0.0019])
        #expect(isNear(rate.levelOfOneMore, 0.01 * 4 / 15, within: 1e-12))
        #expect(FalseDiscoveryRate([]).level == 0)
        #expect(FalseDiscoveryRate([0.02]).level == 0)
        #expect(FalseDiscoveryRate([0.01]).level == 0.01)
        #expect(FalseDiscoveryRate([0.01]).levelOfOneMore == 0.01)
    }

    private func isNear(_ value: Double, _ reference: Double, within error: Double) -> Bool {
        abs(value - reference) <= error * abs(reference)
    }
}
