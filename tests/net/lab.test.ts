import { startLab } from '@postern/testkit/lab/network'
import { startMosquitto, startNodeExporter } from '@postern/testkit/lab/upstreams'
import { expect, it } from 'vitest'

it('lab', async () => {
  const lab = await startLab()
  try {
    await startNodeExporter(lab.site, '/tmp/labx')
    await startMosquitto(lab.lan, '/tmp/labx')
    expect((await lab.visitor.must('curl', '-s', 'http://203.0.113.10:9100/metrics')).length).toBeGreaterThan(
      1000,
    )
    expect(
      (
        await lab.site.run(
          'curl',
          '-s',
          '-m',
          '2',
          '-i',
          '-H',
          'Upgrade: websocket',
          '-H',
          'Connection: Upgrade',
          '-H',
          'Sec-WebSocket-Version: 13',
          '-H',
          'Sec-WebSocket-Protocol: mqtt',
          '-H',
          'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
          'http://192.168.7.20:9001/mqtt',
        )
      ).stdout,
    ).toContain('101')
  } finally {
    await lab.close()
  }
})
