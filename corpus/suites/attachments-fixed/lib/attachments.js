/** Attachments of messages: one container per mailbox, one blob per attachment. */
export class Attachments {
  constructor(service, mailbox) {
    this.container = service.getContainerClient(mailbox);
  }

  async upload(name, data) {
    await this.ensureContainer();
    await this.container.getBlockBlobClient(name).uploadData(Buffer.from(data));
  }

  async download(name) {
    const buffer = await this.container.getBlobClient(name).downloadToBuffer();
    return buffer.toString();
  }

  async ensureContainer() {
    await this.container.createIfNotExists();
  }
}
