/** What one runner did. */
export interface Tally {
  passed: number
  failed: number
}

interface TestReport {
  status: string
  fullName: string
  failureMessages: readonly string[]
}

interface FileReport {
  /** Its path. */
  name: string
  status: string
  /** Why the file, or its setup, failed; else empty. */
  message: string
  assertionResults: readonly TestReport[]
}

/** The fields that we use of Vitest's JSON report. */
export interface VitestReport {
  numPassedTests: number
  numFailedTests: number
  numPendingTests: number
  numTodoTests: number
  testResults: readonly FileReport[]
}

/** A skipped test counts as failed, like a file that could not be loaded and a run without any test. */
export function tallyVitest(report: VitestReport | undefined): Tally {
  if (!report) return { passed: 0, failed: 1 }
  const broken = report.testResults.filter(isBroken).length
  const failed = report.numFailedTests + report.numPendingTests + report.numTodoTests + broken
  return { passed: report.numPassedTests, failed: failed === 0 && report.numPassedTests === 0 ? 1 : failed }
}

/** Each failed or skipped test, and each file that could not be loaded, with the first line of the reason. */
export function listFailures(report: VitestReport | undefined): string[] {
  return (report?.testResults ?? []).flatMap((file) => {
    const tests = file.assertionResults.filter(({ status }) => status !== 'passed')
    return [
      ...(file.message ? [`${file.name}: ${firstLine(file.message)}`] : []),
      ...tests.map(
        (test) => `${file.name} > ${test.fullName}: ${firstLine(test.failureMessages[0] ?? test.status)}`,
      ),
    ]
  })
}

const isBroken = (file: FileReport) => file.status === 'failed' && file.assertionResults.length === 0

const firstLine = (text: string) => text.split('\n', 1)[0] ?? ''

/** A checker without tests of its own counts as one test. An exit code that the report does not explain is a failure. */
export function tallyExit(code: number, tally: Tally = { passed: code === 0 ? 1 : 0, failed: 0 }): Tally {
  return code !== 0 && tally.failed === 0 ? { ...tally, failed: 1 } : tally
}

export function sum(tallies: readonly Tally[]): Tally {
  return tallies.reduce((a, b) => ({ passed: a.passed + b.passed, failed: a.failed + b.failed }), {
    passed: 0,
    failed: 0,
  })
}
