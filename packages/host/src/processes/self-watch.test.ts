import { run } from '@postern/testkit/processes/exec'
import { expect, test } from 'vitest'

const MODULE = new URL('./self-watch.ts', import.meta.url).pathname

test.each([
  ['whose thread is stuck is ended', 'while (true);', 137],
  ['that is only busy is left alone, and ends as usual', '', 0],
])('a program %s', async (_, busy, code) => {
  const script = `
    const { watchSelf } = await import(${JSON.stringify(MODULE)})
    watchSelf(50, 10)
    for (let turn = 0; turn < 4; turn++) {
      const until = performance.now() + 100
      while (performance.now() < until);
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    ${busy}`
  const command = `"$0" --input-type=module -e "$1"; exit $?`
  const ended = await run(['sh', '-c', command, process.execPath, script], { timeoutMs: 30_000 })
  expect(ended.code).toBe(code)
})
