import { launchHolder } from '@postern/host/processes/exec'
import { expect, test } from 'vitest'
import { untilEntered } from './program-view.ts'

test("without a namespace the reason is unshare's message", async () => {
  const holder = launchHolder(['unshare', '--mount', '--propagation=sideways', 'cat'])
  await expect(untilEntered(holder)).rejects.toThrow(/unshare: .*sideways/)
})
