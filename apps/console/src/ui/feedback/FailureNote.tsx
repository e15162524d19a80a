interface FailureNoteProps {
  failure: {
    /** 0 when no answer came. */
    status: number
    requestId?: string | undefined
  }
}

/** What the people who run the server need to find a failure in its log. */
export function FailureNote({ failure: { status, requestId } }: FailureNoteProps) {
  if (!requestId) return null
  return (
    <p className="fine">
      Status {status}, request <span className="mono">{requestId}</span>
    </p>
  )
}
