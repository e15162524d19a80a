import { startLab } from '@postern/testkit/lab/network'
import { startNodeExporter } from '@postern/testkit/lab/upstreams'
import { shared } from '@postern/testkit/shared'
import { tempDir } from '@postern/testkit/temp-dir'
import { beforeAll, expect, test } from 'vitest'

const dir = tempDir()
const lab = shared(startLab)
beforeAll(() => startNodeExporter(lab.lan, dir))

const figures = 'http://192.168.7.20:9100/metrics'

test('what is on the LAN is reached from its site, and from nowhere else', async () => {
  expect(await lab.site.must('curl', '-s', '-m', '5', figures)).toContain('node_cpu_seconds_total')
  for (const host of [lab.visitor, lab.server])
    expect((await host.run('curl', '-s', '-m', '1', figures)).code).not.toBe(0)
})
