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

    private func isNear(_ value: Double, _ reference: Double, within error: Double) -> Bool {
        abs(value - reference) <= error * abs(reference)
    }
}
