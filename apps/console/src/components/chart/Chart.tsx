import { type Figures, FiguresSpan } from '@postern/contract/figures'
import { RotateCw, Table2 } from 'lucide-react'
import { Fragment, useState } from 'react'
import { Link, useNavigate } from 'react-router'
import { errorMessage, failureOf, isTold } from '../../api/api-error.ts'
import { useChartChoice } from '../../stores/preference.ts'
import { Button } from '../../ui/Button.tsx'
import { Skeleton } from '../../ui/data/Table.tsx'
import { Banner } from '../../ui/feedback/Banner.tsx'
import { FailureNote } from '../../ui/feedback/FailureNote.tsx'
import { Pills } from '../../ui/input/Select.tsx'
import { urls } from '../../util/urls.ts'
import { isNothing, type Metric, metricsOf, SPAN_OPTIONS, SPAN_WORDS, type Subject } from './metrics.ts'
import { Plot } from './Plot.tsx'
import { PointTable } from './PointTable.tsx'
import { valueText } from './scales.ts'
import { spanOf, stepText } from './times.ts'
import { useFigures } from './use-figures.ts'

export interface ChartProps {
  of: Subject
  /** What its name is for a screen reader. */
  name: string
  /** The moment to begin with, in ms since the epoch. */
  at?: number | undefined
}

/** What something carried and how it answered: as lines or as a table, for a chosen span. */
export function Chart({ of, name, at }: ChartProps) {
  const [choice, choose] = useChartChoice()
  // A link to a moment says by itself which span is needed.
  const [given, setGiven] = useState(() => (at === undefined ? undefined : spanOf(at, Date.now())))
  const metrics = metricsOf(of)
  const metric = metrics.find(({ value }) => value === choice.metric) ?? metrics[0]
  const span = given ?? choice.span
  const query = useFigures(of, span)
  if (!metric) return null
  const title = `${metric.text} of ${name}, ${SPAN_WORDS[span]}`
  const shown = { of, at: given && at, metric, span, title }
  return (
    <>
      <div className="chart-tools">
        <Pills
          label="Metric"
          options={metrics}
          value={metric.value}
          onValueChange={(next) => choose({ ...choice, metric: next })}
        />
        <Pills
          label="Span"
          options={SPAN_OPTIONS}
          value={span}
          onValueChange={(next) => {
            setGiven(undefined)
            choose({ ...choice, span: FiguresSpan.parse(next) })
          }}
        />
        <Button
          variant="ghost"
          icon={Table2}
          aria-pressed={choice.isTable}
          onClick={() => choose({ ...choice, isTable: !choice.isTable })}
        >
          Table
        </Button>
      </div>
      {query.data ? (
        choice.isTable ? (
          <PointTable caption={title} metric={metric} figures={query.data} />
        ) : (
          <Lines key={span} {...shown} figures={query.data} />
        )
      ) : query.isError ? (
        <Banner kind="bad" role="alert">
          <p>Couldn't load the figures. {!isTold(query.error) && errorMessage(query.error)}</p>
          <FailureNote failure={failureOf(query.error)} />
          <Button size="sm" icon={RotateCw} busy={query.isFetching} onClick={() => void query.refetch()}>
            Retry
          </Button>
        </Banner>
      ) : (
        <div className="chart-wait" aria-busy="true">
          <Skeleton width={30} />
        </div>
      )}
    </>
  )
}

interface LinesProps {
  of: Subject
  metric: Metric
  span: FiguresSpan
  title: string
  at: number | undefined
  figures: Figures
}

/** The lines, and above them the values of the whole span or of the chosen point. */
function Lines({ of, metric, span, title, at, figures }: LinesProps) {
  const navigate = useNavigate()
  // By its time, because the points move on.
  const [chosen, choose] = useState<number | null>(at ?? null)
  const [from, step] = [Date.parse(figures.from), figures.step * 1000]
  const found = chosen === null ? -1 : Math.floor((chosen - from) / step)
  const index = found >= 0 && found < figures.series.sent.length ? found : null
  if (isNothing(metric, figures))
    return (
      <p className="chart-none">
        {metric.nothing} in {SPAN_WORDS[span]}.
      </p>
    )
  const requestsAt = (point: number) =>
    urls.requests({
      ...filterOf(of),
      from: new Date(from + point * step).toISOString(),
      to: new Date(from + (point + 1) * step).toISOString(),
    })
  const when = index === null ? capital(SPAN_WORDS[span]) : stepText(from + index * step, step)
  const values = metric.lines.map((line) => ({
    ...line,
    values: figures.series[line.of],
    now: valueText(
      index === null ? figures.whole[line.of] : (figures.series[line.of][index] ?? null),
      metric.unit,
    ),
  }))
  return (
    <>
      <div className="readout">
        <span className="when tn">{when}</span>
        {values.map(({ of: name, text, look, now }) => (
          <Fragment key={name}>
            {' '}
            <span className="key">
              <i className={look} aria-hidden="true" />
              {text} <b className="tn">{now}</b>
            </span>
          </Fragment>
        ))}{' '}
        {index !== null && <Link to={requestsAt(index)}>Show Requests</Link>}
      </div>
      <Plot
        label={title}
        span={span}
        unit={metric.unit}
        from={from}
        step={step}
        lines={values}
        index={index}
        indexText={`${when}: ${values.map(({ text, now }) => `${text} ${now}`).join(', ')}`}
        onMove={(to) => choose(to === null ? null : from + to * step)}
        onOpen={(point) => void navigate(requestsAt(point))}
      />
    </>
  )
}

/** Which requests a chart counts, as the page of requests asks for them. */
function filterOf(of: Subject): Record<string, string> {
  if (of.kind === 'service') return { service: String(of.id) }
  if (of.kind === 'node') return { node: String(of.id) }
  return of.kind === 'domain' ? { domain: of.domain } : {}
}

const capital = (words: string) => words.charAt(0).toUpperCase() + words.slice(1)
