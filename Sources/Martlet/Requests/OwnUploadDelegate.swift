/// The delegate of the agent's own uploads over `URLSession`. Capture leaves their tasks alone.
protocol OwnUploadDelegate: AnyObject {}
