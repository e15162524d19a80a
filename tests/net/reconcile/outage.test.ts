import { renameSync } from 'node:fs'
import type { HttpService } from '@postern/contract/services/services'
import { haproxyPids } from '@postern/testkit/haproxy'
import { isApplied, startInstallation } from '@postern/testkit/installation'
import { startLab } from '@postern/testkit/lab/network'
import { startEcho } from '@postern/testkit/lab/upstreams'
import { publishLocal, untilAllAnswer } from '@postern/testkit/services'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { beforeAll, expect, it } from 'vitest'

const ECHO_PORT = 8081
/** From before the edge learns of a change until well after it has applied it, in ms. */
const KILL_AFTER = [0, 5, 12, 20, 40, 80]

let services: HttpService[]

const lab = shared(startLab)
const installation = shared(() => startInstallation(lab))
beforeAll(async () => {
  await startEcho(lab.server, `${installation.dataDir}/upstreams`, ECHO_PORT)
  services = await publishLocal(installation, 'svc', 5, ECHO_PORT)
  await untilAllAnswer(lab, services)
})

it('ends in the same state wherever in an apply the edge is killed', async () => {
  for (const ms of KILL_AFTER) {
    const [added] = await publishLocal(installation, `killed${ms}-`, 1, ECHO_PORT)
    await new Promise((resolve) => setTimeout(resolve, ms))
    await installation.edge.stop('SIGKILL')
    installation.startEdge()
    if (added) services.push(added)
    await untilAllAnswer(lab, services.slice(-1))
  }
  await untilAllAnswer(lab, services)
  // Without a server an edge uses what it has stored, and the last one may have been killed before storing it.
  await until('the last edge to be done', () => isApplied(installation.api))
  expect(await haproxyPids(lab)).toEqual([installation.haproxyPid()])
})

it('carries traffic while the server is stopped, even with a new edge', async () => {
  await installation.server.stop()
  await untilAllAnswer(lab, services)
  await installation.edge.stop('SIGKILL')
  process.kill(installation.haproxyPid(), 'SIGKILL')
  installation.startEdge()
  await untilAllAnswer(lab, services)
  await installation.startServer()
})

it('carries traffic while the database is missing', async () => {
  await installation.server.stop()
  const { database } = installation.paths
  renameSync(database, `${database}.away`)
  await untilAllAnswer(lab, services)
  await installation.edge.stop('SIGKILL')
  installation.startEdge()
  await untilAllAnswer(lab, services)
  renameSync(`${database}.away`, database)
  await installation.startServer()
  const [added] = await publishLocal(installation, 'back', 1, ECHO_PORT)
  if (added) await untilAllAnswer(lab, [added])
})
