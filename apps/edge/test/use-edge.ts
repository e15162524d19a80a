import type { EdgeReport } from '@postern/contract/edge/edge-messages'
import type { Exec } from '@postern/host/processes/exec'
import { type FakeServer, startFakeServer } from '@postern/testkit/fakes/fake-server'
import { until } from '@postern/testkit/until'
import { afterEach, beforeEach } from 'vitest'
import type { makeState } from './factories.ts'
import { type Lab, startLab } from './lab.ts'
import { pathsIn, startEdge, type TestEdge } from './start-edge.ts'

/** A lab for each test, with an edge and a server that has this state, which the test starts. */
export function useEdge(state: ReturnType<typeof makeState>) {
  let lab: Lab
  const running: { edge?: TestEdge; server?: FakeServer } = {}

  beforeEach(async () => {
    lab = await startLab()
  })
  afterEach(async () => {
    await running.edge?.edge.close()
    await running.server?.close()
    await lab.close()
    running.edge = running.server = undefined
  })

  return {
    get lab() {
      return lab
    },
    start: async (exec?: Exec) => {
      running.edge = await startEdge(lab, exec)
      return running.edge
    },
    serve: async () => {
      running.server = await startFakeServer(pathsIn(lab), structuredClone(state))
      return running.server
    },
    stopServer: async () => {
      await running.server?.close()
      running.server = undefined
    },
    /** The programs of the lab, but some calls go wrong. */
    broken: (isBroken: (program: string, args: readonly string[]) => Error | undefined): Exec => ({
      ...lab.exec,
      async run(program, args, options) {
        const error = isBroken(program, args)
        if (error) throw error
        return lab.exec.run(program, args, options)
      },
    }),
  }
}

/** Waits until the edge's last report is as wanted. */
export function reported(from: FakeServer, what: string, isIt: (report: EdgeReport) => boolean) {
  return until(what, () => {
    const report = from.messages
      .flatMap((message) => (message.type === 'report' ? message.report : []))
      .at(-1)
    return report && isIt(report) && report
  })
}
