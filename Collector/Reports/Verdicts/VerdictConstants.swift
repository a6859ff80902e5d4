/// The constants of verdicts. Each was measured on simulated rows whose truth is known (`VerdictSimulation`, in Benchmarks).
package enum VerdictConstants {
    // MARK: Level

    /// The false findings in a report of ``rows`` rows. Measured: at most 2 of 100 reports have a false row, 2 to 3.5 where a job runs each five minutes.
    package static let level = 0.01
    /// The rows that share ``level``. It is always this number, so that a row gets the same verdict in every report.
    package static let rows = 50.0
    /// The level of a row for one direction and one signal, before it is divided among them.
    package static let rowLevel = level / rows
    /// The part of the level for "worse". Measured: a larger part finds no more, because the noise decides.
    static let worse = 0.6
    /// The part for "better", and the same part again for "the window before was worse than all around it".
    static let better = 0.2
    /// The part of each for parts of the window: their changes are large, so they need little.
    static let parts = 0.1
    /// A row that is worse stays worse while its p-value is at most this, in one of ``looks`` moments. Measured: 1 flap in 1,800
    /// planted faults, up to 7 in 100 without.
    package static let stay = 0.05
    /// The moments in a row that have to say nothing before a row stops being worse.
    package static let looks = 3

    // MARK: Data

    /// The fewest requests of a window.
    package static let minRequests = 30.0
    /// The fewest minutes that carry the requests of a new row's window. Measured: with fewer, jobs each five minutes are called
    /// changed.
    static let minMinutes = 6.0
    /// The fewest requests of a window of the past that counts for the noise.
    static let minPastRequests = 10.0

    // MARK: Noise

    /// The minutes of the past that the noise comes from: two days. Measured: with one day, failures from 1 to 10 % at an
    /// autocorrelation of 0.5 are found in 86 of 100 instead of 90.
    package static let pastMinutes = 2880
    /// The length of a block of the past, in minutes, and of the shortest part of a window.
    static let blockMinutes = 5
    /// The time before a window that it is compared with, in minutes, and the fewest windows in it.
    static let (referenceMinutes, minReferenceWindows) = (80, 4)
    /// The windows of the past that a row needs. A window of five minutes has them after four hours.
    package static let minPastWindows = 32.0
    /// The degrees of freedom for each window of the past, which depend on each other; the fewest; and those of a new row.
    static let (freedomPerWindow, minFreedom, freedomOfNewRow) = (0.6, 5.0, 30.0)
    /// The share of differences of the past that lie within ``withinErrors`` standard errors, and the share on one side.
    static let (withinShare, sideShare, withinErrors) = (0.9, 0.95, 1.645)
    /// The factor of a noise that is taken from shorter windows. Measured: with less, jobs and cron of a young row are called
    /// changed.
    static let borrowed = 2.0
    /// The autocorrelation of minutes that is assumed where the past does not show it.
    static let assumedAutocorrelation = 0.8
    /// The longest window that is judged by the past, in minutes. Two days hold too few longer ones.
    static let longestByPast = 360
    /// The slots of longer windows.
    package static let slotsOfLong = 48

    // MARK: Guards

    /// The standard errors by which the two windows have to differ, and the factor of the noise for it: two windows differ more
    /// than one does from several.
    static let (besideErrors, besideNoise) = (1.64, 1.6)
    /// The shares of requests above a bound of two distributions that hardly overlap. They need no noise, but twice the fewest
    /// requests.
    static let (apartBelow, apartAbove) = (0.06, 0.9)

    // MARK: Times

    /// The gain in log-likelihood, in units of the dispersion, that a time needs. Measured: of 100 changes that were there all the
    /// time, at most 4 get a false time.
    static let clearGain = 4.0
    /// Or the gain that the compared windows need, if the rest of the window also differs from the change by this many standard
    /// errors of the past. Measured at 10 minutes, 3,000 requests and an autocorrelation of 0.5: a time is named in 55 of 100
    /// instead of 10, and the same false ones.
    static let clearDistance = 2.5
    /// Beginnings whose log-likelihood is lower by no more than this are about as likely.
    static let alikeGain = 1.0
    /// The growth of the dispersion with the correlation of neighbouring minutes, and its largest factor: as if the correlation fell
    /// by a fifth each minute.
    static let (dispersionGrowth, maxDispersionGrowth) = (10.0, 9.0)
}
