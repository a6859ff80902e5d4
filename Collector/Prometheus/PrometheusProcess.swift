/// The resources of a process for Prometheus, under the names that all its client libraries use (Prometheus documentation,
/// "Writing client libraries").
package enum PrometheusProcess {
    package static func text(of figures: OwnProcessFigures) -> String {
        var text = PrometheusText()
        text.begin("process_cpu_seconds_total", .counter, "User and system CPU time.")
        text.add("process_cpu_seconds_total", figures.cpuSeconds)
        text.begin("process_resident_memory_bytes", .gauge, "Resident memory.")
        text.add("process_resident_memory_bytes", figures.residentBytes)
        text.begin("process_virtual_memory_bytes", .gauge, "Virtual memory.")
        text.add("process_virtual_memory_bytes", figures.virtualBytes)
        text.begin("process_start_time_seconds", .gauge, "Start of the process, in seconds since 1970.")
        text.add("process_start_time_seconds", figures.startSeconds)
        text.begin("process_open_fds", .gauge, "Open file descriptors.")
        text.add("process_open_fds", figures.openFiles)
        text.begin("process_max_fds", .gauge, "Maximum number of open file descriptors.")
        text.add("process_max_fds", figures.maxFiles)
        return text.text
    }
}
