import Foundation

/// A kind of row: how its requests, its failures and its durations vary from minute to minute while nothing changes. The raw value is
/// the name for `--worlds`.
enum World: String, CaseIterable {
    case independent
    case correlated3 = "0.3"
    case correlated5 = "0.5"
    case correlated8 = "0.8"
    case strong
    case jobs
    case cron
    case pareto
    case bursts
    case sparse
    case valley
    case slowMinute = "slow-minute"
    case leak

    var title: String {
        switch self {
        case .independent: "independent minutes"
        case .correlated3: "autocorrelation 0.3"
        case .correlated5: "autocorrelation 0.5"
        case .correlated8: "autocorrelation 0.8"
        case .strong: "autocorrelation 0.8, durations vary by 15 %, failures by 70 %"
        case .jobs: "a job of 50 to 600 requests each five minutes"
        case .cron: "forty times the requests for three minutes of each hour"
        case .pareto: "durations without a variance (Pareto)"
        case .bursts: "up to half of the requests fail for one to three minutes, about each quarter of an hour"
        case .sparse: "10 to 60 requests an hour"
        case .valley: "a day with a night"
        case .slowMinute: "each twentieth minute is four times as slow"
        case .leak: "a leak: within 47 minutes durations grow by 60 % and failures double, until a restart"
        }
    }

    /// The standard deviation of the logarithm of durations within a minute.
    var requestDeviation: Double { 0.7 }

    /// The means of each minute. Durations are logarithms of milliseconds.
    struct Traffic {
        var rates: [Double]
        var middles: [Double]
        var failures: [Double]
    }

    private var correlation: Double {
        switch self {
        case .independent: 0
        case .correlated3: 0.3
        case .correlated8, .strong: 0.8
        default: 0.5
        }
    }

    /// - Parameters:
    ///   - rate: requests per minute; `nil` for any from 3 to 60.
    ///   - share: the share of failed requests; `nil` for any from 0.2 to 3 %.
    func traffic(_ minutes: Int, rate: Double?, share: Double?, using random: inout RandomNumbers) -> Traffic {
        let rate = rate ?? exp(random.uniform(log(3), log(60)))
        let share = share ?? exp(random.uniform(log(0.002), log(0.03)))
        let isStrong = self == .strong
        func around(_ middle: Double, _ deviation: Double) -> [Double] {
            random.autocorrelated(minutes, correlation, deviation: deviation)
                .map { middle * exp($0 - deviation * deviation / 2) }
        }
        var traffic = Traffic(
            rates: around(rate, isStrong ? 0.5 : 0.3),
            middles: random.autocorrelated(minutes, correlation, deviation: isStrong ? 0.15 : 0.08)
                .map { log(50) + $0 },
            failures: around(share, isStrong ? 0.7 : 0.5))
        shape(&traffic, rate, using: &random)
        return traffic
    }

    private func shape(_ traffic: inout Traffic, _ rate: Double, using random: inout RandomNumbers) {
        let minutes = traffic.rates.count
        switch self {
        case .jobs: traffic.rates = Array(repeating: 3, count: minutes)
        case .sparse: traffic.rates = Array(repeating: random.uniform(10, 60) / 60, count: minutes)
        case .cron: shapeCron(&traffic, rate, using: &random)
        case .bursts: shapeBursts(&traffic, using: &random)
        case .valley:
            let phase = random.uniform()
            for minute in 0..<minutes {
                let wave = cos(2 * .pi * (Double(minute) / 1440 + phase))
                traffic.rates[minute] *= exp(1.5 * wave)
                traffic.middles[minute] += 0.1 * wave
            }
        case .slowMinute:
            for minute in stride(from: random.below(20), to: minutes, by: 20) { traffic.middles[minute] += log(4) }
        case .leak:
            let phase = random.below(47)
            for minute in 0..<minutes {
                let part = Double((minute + phase) % 47) / 47
                traffic.middles[minute] += log(1 + 0.6 * part)
                traffic.failures[minute] *= 1 + part
            }
        default: break
        }
    }

    private func shapeCron(_ traffic: inout Traffic, _ rate: Double, using random: inout RandomNumbers) {
        let minutes = traffic.rates.count
        traffic.rates = Array(repeating: rate / 3, count: minutes)
        traffic.failures = Array(repeating: 0.005, count: minutes)
        let phase = random.below(60)
        for minute in 0..<minutes where (minute - phase + 60) % 60 < 3 {
            traffic.rates[minute] *= 40
            traffic.middles[minute] = log(200) + 0.2 * random.normal()
            traffic.failures[minute] = 0.05 * exp(0.4 * random.normal())
        }
    }

    private func shapeBursts(_ traffic: inout Traffic, using random: inout RandomNumbers) {
        traffic.failures = Array(repeating: 0.001, count: traffic.failures.count)
        var minute = 0
        while minute < traffic.failures.count {
            minute += Int(15 * random.exponential()) + 1
            for burst in minute..<minute + 1 + random.below(3) where burst < traffic.failures.count {
                traffic.failures[burst] = random.uniform() * 0.5
            }
        }
    }
}
