/// The figures of the budget that are not settings. Tests pass others.
struct BudgetTerms: Sendable {
    var period = MartletLimits.budgetPeriod
    var freeCore = MartletLimits.freeCore
    var costlyTime = MartletLimits.costlyTime
    var firstPause = MartletLimits.firstPause
    var longestPause = MartletLimits.longestPause
    var calmTime = MartletLimits.calmTime
}
