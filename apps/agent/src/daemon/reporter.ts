import { type AgentReport, NOTHING_BEYOND } from '@postern/contract/agent/agent-report'
import { messageOf } from '@postern/host/errors'
import type { Log } from '../io.ts'
import type { ServerClient } from './server-client.ts'

/** After a failure. Older servers do not have this call. */
const RETRY_AFTER = 60_000
/** The server's report of an agent that has just connected. */
const NOTHING = JSON.stringify({
  takenPorts: [],
  takenRoutes: [],
  beyond: NOTHING_BEYOND,
} satisfies AgentReport)

export interface ReporterOptions {
  send: ServerClient['report']
  now(): number
  log: Log
}

/** Sends the server this agent's report whenever it differs from the one that the server has. */
export function createReportSender({ send, now, log }: ReporterOptions) {
  let held = NOTHING
  let notBefore = 0
  let isSending = false
  let connections = 0
  let failure = ''

  async function deliver(report: AgentReport, text: string): Promise<void> {
    const connection = connections
    try {
      await send(report)
      // The server may have dropped it since.
      held = connection === connections ? text : NOTHING
      failure = ''
    } catch (error) {
      // It may have arrived all the same.
      held = ''
      notBefore = now() + RETRY_AFTER
      if (messageOf(error) !== failure) log(`report: ${messageOf(error)}`)
      failure = messageOf(error)
    }
  }

  return {
    /** Does not wait: what fails now is sent later, with the report of then. */
    tell(report: AgentReport): void {
      const text = JSON.stringify(report)
      if (text === held || isSending || now() < notBefore) return
      isSending = true
      void deliver(report, text).finally(() => {
        isSending = false
      })
    },
    /** The server drops the report with each new connection. */
    sendAgain(): void {
      connections++
      held = NOTHING
      notBefore = 0
    },
  }
}
