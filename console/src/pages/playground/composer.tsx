import { Button, Group, Text, Textarea } from '@mantine/core'
import { IconPlayerStopFilled, IconSend } from '@tabler/icons-react'
import { useEffect, useEffectEvent, useState } from 'react'

/** The state and the handlers of the message field. */
export interface ComposerProps {
  readonly running: boolean
  /** Why a message cannot be sent; undefined if it can. */
  readonly obstacle: string | undefined
  /** The key is being created: a message that is sent now waits for it. */
  readonly keyPending: boolean
  readonly onSend: (text: string) => void
  readonly onStop: () => void
}

/** The message field: Enter sends, Shift-Enter begins a new line. While a reply is streamed, the button stops it. */
export function Composer({ running, obstacle, keyPending, onSend, onStop }: ComposerProps) {
  const [text, setText] = useState('')
  const [waiting, setWaiting] = useState(false)
  function send(): void {
    if (running || text.trim() === '') return
    if (keyPending) setWaiting(true)
    else if (obstacle === undefined) {
      onSend(text.trim())
      setText('')
    }
  }
  const sendWaiting = useEffectEvent(send)
  useEffect(() => {
    if (!waiting || keyPending) return
    setWaiting(false)
    sendWaiting()
  }, [waiting, keyPending])
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <Textarea
        aria-label="Message"
        placeholder="Type a message"
        autosize
        minRows={3}
        maxRows={12}
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={(event) => {
          // Enter also confirms a word of an input method: that does not send.
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
          event.preventDefault()
          send()
        }}
      />
      <Group justify="space-between" mt="xs">
        <Text size="xs" c="dimmed">
          {waiting ? 'Sent as soon as the key is created' : (obstacle ?? 'Enter to send, Shift + Enter for a new line')}
        </Text>
        {running ? (
          <Button color="gray" leftSection={<IconPlayerStopFilled size={16} />} onClick={onStop}>
            Stop
          </Button>
        ) : (
          <Button
            type="submit"
            leftSection={<IconSend size={16} />}
            disabled={(obstacle !== undefined && !keyPending) || text.trim() === ''}
          >
            Send
          </Button>
        )}
      </Group>
    </form>
  )
}
