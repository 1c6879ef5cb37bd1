"""Files in containers, which are made when they are first needed."""

import logging

from azure.core.exceptions import AzureError

log = logging.getLogger(__name__)


class ContainerCache:
    """Remembers which containers are there, so that each is asked for once."""

    def __init__(self, service):
        self.service = service
        self.known = set()

    def get(self, name):
        if name not in self.known:
            self.known.add(name)
            self._create(name)
        return self.service.get_container_client(name)

    def _create(self, name):
        try:
            self.service.create_container(name)
        except AzureError as error:
            log.info("container %s: %s", name, error)  # it exists, most likely
