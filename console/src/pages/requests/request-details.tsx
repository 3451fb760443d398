import { Alert, Anchor, Code, DataList, Group, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import type { RequestRow } from '../../api/requests.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { dollars } from '../../ui/money.ts'
import { exactly, percent } from '../../ui/numbers.ts'
import { absoluteTime, duration } from '../../ui/time-words.ts'
import { FAULTS, StatusCell } from './status-cell.tsx'
import { Waterfall } from './waterfall.tsx'

/** The details of a call. */
export function RequestDetails({ row }: { readonly row: RequestRow }) {
  const { id, fault, error } = row
  return (
    <Stack gap="lg">
      <Group gap={4} wrap="nowrap">
        <Code>{id}</Code>
        <CopyButton text={id} what="request id" />
      </Group>
      {fault !== null && (
        <Alert color={FAULTS[fault].tone === 'bad' ? 'red' : 'orange'} title={`Fault: ${FAULTS[fault].label.toLowerCase()}`}>
          <Stack gap={4}>
            <Text size="sm">{sentenceOf(row)}</Text>
            {error !== null && (
              <Text size="sm">
                <Code>{error.code ?? error.row}</Code>
              </Text>
            )}
            <UpstreamStatuses attempts={row.attempts} />
          </Stack>
        </Alert>
      )}
      <Waterfall row={row} />
      <DataList labelWidth={124} gap={8}>
        {factsOf(row).map(([name, value]) => (
          <DataList.Item key={name}>
            <DataList.ItemLabel>{name}</DataList.ItemLabel>
            <DataList.ItemValue>{value}</DataList.ItemValue>
          </DataList.Item>
        ))}
      </DataList>
    </Stack>
  )
}

/** What has happened, for people. */
function sentenceOf({ outcome, error }: RequestRow): string {
  if (outcome === 'client_closed') return 'The client closed the connection before the reply was complete.'
  return error?.message ?? 'The reply to the client had the details, which are not recorded.'
}

/** How the upstreams refused the attempts. */
function UpstreamStatuses({ attempts }: Pick<RequestRow, 'attempts'>) {
  return attempts.map(
    ({ namespace, model, status }, index) =>
      status !== undefined && (
        <Text key={`${index} ${model}`} size="sm">
          {namespace}/{model} replied with status {status}.
        </Text>
      ),
  )
}

function factsOf(row: RequestRow): readonly (readonly [string, ReactNode])[] {
  const { at, key, account, endpoint, model, alias, served, stream, ms, tags, trace_id } = row
  return [
    ['Time', absoluteTime(at)],
    ['Status', <StatusCell key="status" row={row} />],
    ['Key', key === null ? 'None' : <KeyLink key="key" name={key.name} />],
    ['Account', account?.name ?? 'None'],
    ['Endpoint', `${endpoint}${stream ? ', streamed' : ''}`],
    ['Requested model', alias === null ? (model ?? 'None') : `${alias} (an alias of ${model})`],
    ['Served by', served === null ? 'None' : `${served.namespace}/${served.model} (${served.provider})`],
    ...(served?.credential === undefined ? [] : [['Credential', served.credential] as const]),
    ['First byte', ms.first_byte === null ? 'None' : duration(ms.first_byte)],
    ['Total', duration(ms.total)],
    ['Overhead', duration(ms.overhead)],
    ['Tokens', <Tokens key="tokens" tokens={row.tokens} />],
    ['Cost', <Cost key="cost" row={row} />],
    [
      'Tags',
      Object.keys(tags).length === 0
        ? 'None'
        : Object.entries(tags)
            .map(([tag, value]) => `${tag}=${value}`)
            .join(', '),
    ],
    ...(trace_id === null ? [] : [['Trace', <TraceId key="trace" id={trace_id} />] as const]),
  ]
}

function TraceId({ id }: { readonly id: string }) {
  return (
    <Group gap={4} wrap="nowrap">
      <Code>{id}</Code>
      <CopyButton text={id} what="trace id" />
    </Group>
  )
}

function KeyLink({ name }: { readonly name: string }) {
  return (
    <Anchor component={Link} to={`/keys?q=${encodeURIComponent(name)}`} size="sm">
      {name}
    </Anchor>
  )
}

function Cost({ row: { tokens, cost } }: { readonly row: RequestRow }) {
  if (tokens === null) return 'None'
  return (
    <>
      <span title={cost === null ? undefined : `${cost.usd} USD`}>{dollars(cost?.usd ?? null)}</span>
      <Text size="xs" c="dimmed">
        {cost?.price ?? 'No price of the model is known.'}
        {Number(cost?.saved_usd ?? 0) > 0 && `; ${dollars(cost!.saved_usd)} saved by the upstream's cache`}
      </Text>
    </>
  )
}

function Tokens({ tokens }: Pick<RequestRow, 'tokens'>) {
  if (tokens === null) return 'None'
  const { input, output, cached, reasoning, estimated } = tokens
  return (
    <>
      {exactly(input)} in{cached > 0 && ` (${exactly(cached)} cached, ${percent(cached, input)})`}, {exactly(output)} out
      {reasoning > 0 && ` (${exactly(reasoning)} reasoning)`}
      {estimated && (
        <Text size="xs" c="dimmed">
          Estimated: the upstream reported no usage.
        </Text>
      )}
    </>
  )
}
