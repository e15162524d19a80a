import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Lab, startLab } from '@postern/testkit/lab/network'
import { startNodeExporter } from '@postern/testkit/lab/upstreams'
import { afterAll, beforeAll, expect, test } from 'vitest'

let lab: Lab
let dir: string
beforeAll(async () => {
  lab = await startLab()
  dir = mkdtempSync(join(tmpdir(), 'pt-lab-'))
  await startNodeExporter(lab.lan, dir)
})
afterAll(async () => {
  await lab.close()
  rmSync(dir, { recursive: true })
})

const figures = 'http://192.168.7.20:9100/metrics'

test('what is on the LAN is reached from its site, and from nowhere else', async () => {
  expect(await lab.site.must('curl', '-s', '-m', '5', figures)).toContain('node_cpu_seconds_total')
  for (const host of [lab.visitor, lab.server])
    expect((await host.run('curl', '-s', '-m', '1', figures)).code).not.toBe(0)
})
