/// The figures of the budget that are no settings. Tests have others.
struct BudgetTerms: Sendable {
    var window = MartletLimits.budgetWindow
    var freeCore = MartletLimits.freeCore
    var costlyTime = MartletLimits.costlyTime
    var firstPause = MartletLimits.firstPause
    var longestPause = MartletLimits.longestPause
    var calm = MartletLimits.calm
}
