import { type AgentReport, NOTHING_BEYOND } from '@postern/contract/agent-report'
import { messageOf } from '@postern/host/errors'
import type { Log } from '../io.ts'
import type { ServerClient } from './server-client.ts'

/** After a failure. An older server knows no such call. */
const RETRY_AFTER = 60_000
/** What a server has of an agent that has just connected. */
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

/** Tells the server what this agent sees, whenever that is another than the server knows. */
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
      // The server may have forgotten it since.
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
    /** Waits for nothing: what fails now is sent later, with what is seen then. */
    tell(report: AgentReport): void {
      const text = JSON.stringify(report)
      if (text === held || isSending || now() < notBefore) return
      isSending = true
      void deliver(report, text).finally(() => {
        isSending = false
      })
    },
    /** The server forgets with each new connection. */
    sendAgain(): void {
      connections++
      held = NOTHING
      notBefore = 0
    },
  }
}
