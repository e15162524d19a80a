import { createExec } from '@postern/host/processes/exec'
import { expect, test } from 'vitest'
import { createProber } from './prober.ts'

test('once it is closed, nothing starts fping again', () => {
  let started = 0
  let running = 0
  const stream = () => {
    started++
    running++
    return { stop: () => void running-- }
  }
  const exec = { ...createExec(), stream }
  const prober = createProber({ exec, interface: 'none0', onChange: () => undefined })
  prober.probe(['10.64.0.2'])
  expect([started, running]).toEqual([1, 1])
  prober.restart()
  expect([started, running]).toEqual([2, 1])
  prober.close()
  prober.restart()
  prober.probe(['10.64.0.3'])
  expect([started, running]).toEqual([2, 0])
})
